// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
import {Payouts} from "../../src/base/Payouts.sol";
import {GreedyRegistry} from "../base/BatchTest.sol";
import {EscrowTest} from "../base/EscrowTest.sol";

/// @notice The identity registry is a third party's: it can be upgraded, break, or be gone. Then nobody but the payee gets the payee's
/// money, and nothing is locked.
contract RegistryTest is EscrowTest {
    /// @dev How a registry can fail to answer.
    enum Fault {
        Silent,
        NoAddress,
        NoCode,
        BurnsGas,
        Reverts,
        RevertsForAnother,
        Short
    }

    CommissionEscrow.Terms private terms;
    bytes private code;

    function setUp() public override {
        super.setUp();
        terms = buy();
        code = address(identities).code;
        vm.warp(terms.windowEnd);
    }

    function test_succeeds_forEverybodyElseWhateverTheRegistryAnswers() public {
        for (uint256 i = 0; i <= uint256(type(Fault).max); ++i) {
            uint256 snapshot = vm.snapshotState();
            breakRegistry(Fault(i));
            vm.expectEmit(address(escrow));
            emit ICommissionEscrowEvents.AgentPayoutDeferred(reviewerAgentId, HELD_BACK);
            settleEscrow(terms, false, true);
            assertPaidOut(0, 0, CASHBACK, buyer.addr);
            assertWaiting(HELD_BACK);
            repairRegistry();
            vm.revertToState(snapshot);
        }
    }

    function test_succeeds_byFallbackWhateverTheRegistryAnswers() public {
        vm.warp(terms.windowEnd + 10 days);
        for (uint256 i = 0; i <= uint256(type(Fault).max); ++i) {
            uint256 snapshot = vm.snapshotState();
            breakRegistry(Fault(i));
            vm.prank(stranger);
            escrow.settleFallback{gas: 250_000}(terms);
            assertPaidOut(0, HELD_BACK, 0, buyer.addr);
            assertWaiting(CASHBACK);
            repairRegistry();
            vm.revertToState(snapshot);
        }
    }

    /// @dev What nobody but the reviewer can be due does not depend on the reviewer.
    function test_succeeds_withoutTheRegistryWhenTheReviewerGetsNothing() public {
        breakRegistry(Fault.NoCode);
        settleEscrow(terms, true, true);
        assertPaidOut(0, HELD_BACK, CASHBACK, buyer.addr);
        assertWaiting(0);
    }

    function test_succeeds_onceTheRegistryAnswersAgain() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, makeWallet("till"));
        breakRegistry(Fault.Reverts);
        settleEscrow(terms, false, false);
        vm.expectRevert(notPayable());
        escrow.claimForAgent(reviewerAgentId);
        repairRegistry();

        vm.expectEmit(address(escrow));
        emit ICommissionEscrowEvents.AgentPayoutClaimed(reviewerAgentId, makeAddr("till"), HELD_BACK + CASHBACK);
        vm.prank(stranger);
        assertEq(escrow.claimForAgent(reviewerAgentId), HELD_BACK + CASHBACK);
        assertBalance(makeAddr("till"), HELD_BACK + CASHBACK, "agent wallet");
        assertWaiting(0);
        vm.expectRevert(
            abi.encodeWithSelector(ICommissionEscrowErrors.NothingToClaimForAgent.selector, reviewerAgentId)
        );
        escrow.claimForAgent(reviewerAgentId);
    }

    function test_succeeds_forWhoeverOwnsTheIdentityLater() public {
        breakRegistry(Fault.Reverts);
        settleEscrow(terms, false, false);
        repairRegistry();
        transferIdentity(reviewer.addr, stranger, reviewerAgentId);
        escrow.claimForAgent(reviewerAgentId);
        assertBalance(stranger, HELD_BACK + CASHBACK, "present owner");
    }

    function test_succeeds_whenAskingWhoCouldBePaid() public {
        uint256[] memory agentIds = new uint256[](2);
        (agentIds[0], agentIds[1]) = (reviewerAgentId, 404);
        assertEq(abi.encode(escrow.areReadable(agentIds)), abi.encode(pair(true, true)));
        bytes memory about = abi.encodeWithSelector(identities.getAgentWallet.selector, reviewerAgentId);
        vm.mockCallRevert(address(identities), about, "gone");
        assertEq(abi.encode(escrow.areReadable(agentIds)), abi.encode(pair(false, true)));
        breakRegistry(Fault.BurnsGas);
        assertEq(abi.encode(escrow.areReadable(agentIds)), abi.encode(pair(false, false)));
    }

    /// @dev For good, perhaps. The owner is not the wallet, so only the owner itself can have it paid to the owner.
    function test_succeeds_forTheOwnerAloneWhenTheRegistryTellsNoWallets() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, makeWallet("till"));
        vm.mockCallRevert(address(identities), abi.encodeWithSelector(identities.getAgentWallet.selector), "gone");
        settleEscrow(terms, false, false);
        assertWaiting(HELD_BACK + CASHBACK);
        vm.expectRevert(notPayable());
        vm.prank(stranger);
        escrow.claimForAgent(reviewerAgentId);
        vm.prank(reviewer.addr);
        escrow.claimForAgent(reviewerAgentId);
        assertBalance(reviewer.addr, IMMEDIATE + HELD_BACK + CASHBACK, "owner");
    }

    function test_reverts_whenThereIsNoSuchIdentity() public {
        vm.mockCall(address(identities), abi.encodeWithSelector(identities.getAgentWallet.selector), abi.encode(0));
        vm.mockCallRevert(
            address(identities),
            abi.encodeWithSelector(identities.ownerOf.selector),
            abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, reviewerAgentId)
        );
        settleEscrow(terms, false, false);
        assertWaiting(HELD_BACK + CASHBACK);
        vm.expectRevert(notPayable());
        escrow.claimForAgent(reviewerAgentId);
    }

    /// @dev What the token refuses then is the account's to claim.
    function test_succeeds_whenTheTokenRefusesThePayee() public {
        breakRegistry(Fault.Reverts);
        settleEscrow(terms, false, false);
        repairRegistry();
        blockAccount(reviewer.addr);
        vm.expectEmit(address(escrow));
        emit Payouts.PayoutDeferred(reviewer.addr, HELD_BACK + CASHBACK);
        escrow.claimForAgent(reviewerAgentId);
        assertEq(escrow.claimable(reviewer.addr), HELD_BACK + CASHBACK);
        assertEq(escrow.claimableByAgent(reviewerAgentId), 0);
        assertEq(escrow.totalClaimable(), HELD_BACK + CASHBACK);
    }

    /// @dev Whatever the gas: the reviewer is paid, or nothing happens. A lookup that is given too little does not pass for an outage.
    function testFuzz_settlesAsWellWithLittleGas(uint256 gasLimit) public {
        vm.warp(terms.windowEnd + 10 days);
        try escrow.settleFallback{gas: bound(gasLimit, 20_000, 250_000)}(terms) {
            assertPaidOut(CASHBACK, HELD_BACK, 0, buyer.addr);
        } catch {
            assertState(terms, CommissionEscrow.State.Holding);
        }
        assertWaiting(0);
    }

    // ---- helpers

    function breakRegistry(Fault fault) private {
        address registry = address(identities);
        if (fault == Fault.NoCode) vm.etch(registry, "");
        else if (fault == Fault.BurnsGas) vm.etch(registry, address(new GreedyRegistry()).code);
        else if (fault == Fault.Reverts) mockAnswers(true, "paused");
        else if (fault == Fault.RevertsForAnother) mockAnswers(true, nonexistent(reviewerAgentId + 1));
        else if (fault == Fault.NoAddress) mockAnswers(false, abi.encode(type(uint256).max));
        else if (fault == Fault.Short) mockAnswers(false, abi.encodePacked(reviewer.addr));
        else mockAnswers(false, "");
    }

    function repairRegistry() private {
        vm.clearMockedCalls();
        vm.etch(address(identities), code);
    }

    function mockAnswers(bool reverts, bytes memory answer) private {
        bytes4[2] memory questions = [identities.getAgentWallet.selector, identities.ownerOf.selector];
        for (uint256 i = 0; i < questions.length; ++i) {
            if (reverts) vm.mockCallRevert(address(identities), abi.encodeWithSelector(questions[i]), answer);
            else vm.mockCall(address(identities), abi.encodeWithSelector(questions[i]), answer);
        }
    }

    function pair(bool first, bool second) private pure returns (bool[] memory both) {
        both = new bool[](2);
        (both[0], both[1]) = (first, second);
    }

    function nonexistent(uint256 agentId) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, agentId);
    }

    function notPayable() private view returns (bytes memory) {
        return abi.encodeWithSelector(ICommissionEscrowErrors.AgentNotPayable.selector, reviewerAgentId);
    }

    function assertWaiting(uint256 amount) private view {
        assertEq(escrow.claimableByAgent(reviewerAgentId), amount, "waiting for the agent");
        assertEq(escrow.totalClaimable(), amount, "all claims");
        assertEq(escrow.owed(), usdc.balanceOf(address(escrow)), "owed");
    }
}
