// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SplitRouter} from "../../src/SplitRouter.sol";
import {SettlementProbe} from "../../src/lens/SettlementProbe.sol";
import {RouterTest} from "./RouterTest.sol";
import {GreedyWallet} from "./Wallets.sol";

/// @notice The probe's code stands at the settler's address, as `eth_call` puts it there.
abstract contract ProbeTest is RouterTest {
    uint256 internal constant CALL_GAS = 500_000;

    SettlementProbe internal probe;

    function setUp() public override {
        super.setUp();
        probe = probeAt(settler);
    }

    function probeAt(address account) internal returns (SettlementProbe) {
        vm.etch(account, vm.getDeployedCode("SettlementProbe.sol:SettlementProbe"));
        return SettlementProbe(account);
    }

    function settleCall(SplitRouter.Purchase memory purchase) internal view returns (SettlementProbe.Call memory) {
        return SettlementProbe.Call(address(router), CALL_GAS, abi.encodeCall(SplitRouter.settle, (purchase)));
    }

    function greedyCall() internal returns (SettlementProbe.Call memory) {
        bytes memory data = abi.encodeCall(GreedyWallet.isValidSignature, (0, ""));
        return SettlementProbe.Call(address(new GreedyWallet()), CALL_GAS, data);
    }

    function list(SettlementProbe.Call memory only) internal pure returns (SettlementProbe.Call[] memory calls) {
        calls = new SettlementProbe.Call[](1);
        calls[0] = only;
    }

    function list(SettlementProbe.Call memory first, SettlementProbe.Call memory second)
        internal
        pure
        returns (SettlementProbe.Call[] memory calls)
    {
        calls = new SettlementProbe.Call[](2);
        (calls[0], calls[1]) = (first, second);
    }

    function list(SettlementProbe.Call memory first, SettlementProbe.Call memory second, SettlementProbe.Call memory third)
        internal
        pure
        returns (SettlementProbe.Call[] memory calls)
    {
        calls = new SettlementProbe.Call[](3);
        (calls[0], calls[1], calls[2]) = (first, second, third);
    }
}
