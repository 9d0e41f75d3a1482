// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SplitRouter} from "../../src/SplitRouter.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {SettlementProbe} from "../../src/lens/SettlementProbe.sol";
import {ProbeTest} from "../base/ProbeTest.sol";
import {SlowWallet} from "../base/Wallets.sol";

/// @dev Answers with as many bytes as it is asked for.
contract Talker {
    fallback(bytes calldata input) external returns (bytes memory) {
        return new bytes(abi.decode(input, (uint256)));
    }
}

contract TogetherTest is ProbeTest {
    address[] private nobody;

    function test_succeeds_asTheAccountItStandsAt() public {
        SettlementProbe.Outcome[] memory outcomes = together(probe, list(settleCall(purchaseOf(buyer))));
        assertTrue(outcomes[0].ok);
        assertEq(abi.decode(outcomes[0].data, (uint256)), escrow.lastEscrowId());
        assertSplit(buyer.addr);
    }

    function test_tellsTheReasonWhenTheAccountMayNot() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        SettlementProbe.Outcome[] memory outcomes = together(probeAt(stranger), list(settleCall(purchase)));
        assertFalse(outcomes[0].ok);
        bytes32 expected = router.attributionNonce(purchase.attribution);
        assertEq(
            outcomes[0].data,
            abi.encodeWithSelector(ISplitRouterErrors.NonceNotCommitted.selector, purchase.authorization.nonce, expected)
        );
    }

    function test_letsEachCallSeeWhatThoseBeforeItDid() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        SettlementProbe.Outcome[] memory outcomes =
            together(probe, list(settleCall(purchase), settleCall(purchase), settleCall(purchaseOf(walletBuyer))));
        assertTrue(outcomes[0].ok && outcomes[2].ok);
        assertFalse(outcomes[1].ok);
        assertEq(outcomes[1].data, revertString("FiatTokenV2: authorization is used or canceled"));
    }

    function test_tellsTheTimeAndWhoHasCode() public {
        address[] memory wallets = new address[](2);
        (wallets[0], wallets[1]) = (buyer.addr, address(router));
        (uint256 timestamp, bool[] memory haveCode, SettlementProbe.Outcome[] memory outcomes) =
            probe.together(new SettlementProbe.Call[](0), wallets);
        assertEq(timestamp, block.timestamp);
        assertEq(outcomes.length, 0);
        assertFalse(haveCode[0]);
        assertTrue(haveCode[1]);
    }

    function test_cutsALongAnswer() public {
        address talker = address(new Talker());
        uint256 length = probe.MAX_DATA() + 1;
        SettlementProbe.Outcome[] memory outcomes = together(
            probe,
            list(
                SettlementProbe.Call(talker, 0, abi.encode(length)),
                SettlementProbe.Call(talker, 0, abi.encode(100))
            )
        );
        assertEq(outcomes[0].data.length, probe.MAX_DATA());
        assertEq(outcomes[1].data, new bytes(100));
    }

    // ---- gas

    function test_measuresGas() public {
        address slow = address(new SlowWallet(200_000));
        SettlementProbe.Outcome[] memory outcomes =
            together(probe, list(SettlementProbe.Call(slow, 0, abi.encodeCall(SlowWallet.isValidSignature, (0, "")))));
        assertGt(outcomes[0].gasUsed, 200_000);
        assertLt(outcomes[0].gasUsed, 205_000);
    }

    function test_succeeds_forTheOthersWhenACallBurnsItsGas() public {
        SettlementProbe.Call memory greedy = greedyCall();
        SettlementProbe.Outcome[] memory outcomes =
            together(probe, list(settleCall(purchaseOf(buyer)), greedy, settleCall(purchaseOf(walletBuyer))));
        assertTrue(outcomes[0].ok && outcomes[2].ok);
        assertFalse(outcomes[1].ok);
        assertGt(outcomes[1].gasUsed, greedy.gas);
    }

    function test_succeeds_whenTheLastCallBurnsAllThereIs() public {
        SettlementProbe.Call memory greedy = greedyCall();
        greedy.gas = 0;
        (,, SettlementProbe.Outcome[] memory outcomes) =
            probe.together{gas: 16_000_000}(list(settleCall(purchaseOf(buyer)), greedy), nobody);
        assertTrue(outcomes[0].ok);
        assertFalse(outcomes[1].ok);
    }

    /// @dev Whatever the gas: every call that was made is found good, or the caller hears that there was too little even to answer.
    function testFuzz_neverFindsAGoodCallBadForLackOfGas(uint256 gasLimit) public {
        gasLimit = bound(gasLimit, 30_000, 1_500_000);
        address slow = address(new SlowWallet(200_000));
        SettlementProbe.Call memory last =
            SettlementProbe.Call(slow, 205_000, abi.encodeCall(SlowWallet.isValidSignature, (0, "")));
        SettlementProbe.Call[] memory calls =
            list(settleCall(purchaseOf(buyer)), settleCall(purchaseOf(walletBuyer)), last);
        try probe.together{gas: gasLimit}(calls, nobody) returns (
            uint256, bool[] memory, SettlementProbe.Outcome[] memory outcomes
        ) {
            for (uint256 i = 0; i < outcomes.length; ++i) {
                assertTrue(outcomes[i].ok, "a good call was found bad");
            }
        } catch {}
    }

    function test_stopsAtACallThatCannotGetItsGas() public {
        SettlementProbe.Call[] memory calls = list(settleCall(purchaseOf(buyer)), settleCall(purchaseOf(walletBuyer)));
        (,, SettlementProbe.Outcome[] memory outcomes) = probe.together{gas: CALL_GAS + 100_000}(calls, nobody);
        assertEq(outcomes.length, 1);
        assertTrue(outcomes[0].ok);
    }

    // ---- helpers

    function together(SettlementProbe asked, SettlementProbe.Call[] memory calls)
        private
        returns (SettlementProbe.Outcome[] memory outcomes)
    {
        (,, outcomes) = asked.together(calls, nobody);
    }
}
