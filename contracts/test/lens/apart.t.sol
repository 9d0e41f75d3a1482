// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SplitRouter} from "../../src/SplitRouter.sol";
import {SettlementProbe} from "../../src/lens/SettlementProbe.sol";
import {ProbeTest} from "../base/ProbeTest.sol";

contract ApartTest is ProbeTest {
    function test_undoesEachGroupBeforeTheNext() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        SettlementProbe.Outcome[][] memory outcomes =
            apart(list(settleCall(purchase), settleCall(purchase)), list(settleCall(purchase)));
        assertTrue(outcomes[0][0].ok && outcomes[1][0].ok);
        assertFalse(outcomes[0][1].ok, "a group's calls see each other");
        assertEq(outcomes[0][1].data, revertString("FiatTokenV2: authorization is used or canceled"));
        assertFalse(isSplit(purchase));
        assertBalance(buyer.addr, FUNDS, "buyer");
    }

    function test_tellsTheBlock() public {
        vm.roll(77);
        (uint256 timestamp, uint256 number, SettlementProbe.Outcome[][] memory outcomes) =
            probe.apart(new SettlementProbe.Call[][](1));
        assertEq(timestamp, block.timestamp);
        assertEq(number, 77);
        assertEq(outcomes.length, 1);
        assertEq(outcomes[0].length, 0);
    }

    function test_succeeds_forTheOtherGroupsWhenACallBurnsItsGas() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        SettlementProbe.Outcome[][] memory outcomes =
            apart(list(greedyCall(), settleCall(purchase)), list(settleCall(purchase)));
        assertFalse(outcomes[0][0].ok);
        assertTrue(outcomes[0][1].ok && outcomes[1][0].ok);
    }

    function test_reverts_whenACallCannotGetItsGas() public {
        SettlementProbe.Call[][] memory groups = new SettlementProbe.Call[][](1);
        groups[0] = list(settleCall(purchaseOf(buyer)));
        try probe.apart{gas: CALL_GAS}(groups) {
            assertTrue(false, "called with too little gas");
        } catch (bytes memory reason) {
            assertEq(bytes4(reason), SettlementProbe.NotEnoughGas.selector);
        }
    }

    function apart(SettlementProbe.Call[] memory first, SettlementProbe.Call[] memory second)
        private
        returns (SettlementProbe.Outcome[][] memory outcomes)
    {
        SettlementProbe.Call[][] memory groups = new SettlementProbe.Call[][](2);
        (groups[0], groups[1]) = (first, second);
        (,, outcomes) = probe.apart(groups);
    }
}
